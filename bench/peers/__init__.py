"""The peers: frameworks that do the same work, each in an environment of its own; `make bench-peers` makes those."""
