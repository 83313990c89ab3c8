"""The confinement: rights that the engine gives up permanently before its first program.

Full confinement needs Linux: `landlock` for files and the network, `seccomp` for system calls,
`limits` for memory and descriptors. `box` combines them.
"""
