"""One module per way of doing the work: floors, and Onion. Each has ``SETUPS``, a workload by name."""
