"""What Onion costs: the same work done by Onion, by bare floors and by peers, each in a process of its own.

`python -m bench` is the command line; docs/performance.md says how the figures are taken and what they are.
"""
