"""The tests of Onion: they mirror ``src/onion`` file by file."""
