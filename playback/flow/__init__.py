"""The run as a graph of networkx: questions to it, and files of it. Only here is it imported."""
