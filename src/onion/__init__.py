"""Language model calls as an onion: everything is a model, decorated by middleware."""
