"""The command line: `onion run`, `onion chat`, `onion explain`, `onion local`."""
