"""How many instructions the hot paths take, counted by callgrind: figures that no noise on the machine can change.

`python -m bench.counts` counts and compares with what is recorded in counts.json; docs/performance.md says more.
"""
