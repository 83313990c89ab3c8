"""The confinement: what the engine gives up for good before it takes its first program.

Linux alone has what it takes: `landlock` for files and the network, `seccomp` for everything that a
program asks of the kernel, `limits` for memory and descriptors. `box` puts them together.
"""
