"""Times and memory of a program's own computation: with and without a graph, by both modes."""

from gradscribe.engine.inspect.costs.measure import measure_costs

__all__ = ["measure_costs"]
