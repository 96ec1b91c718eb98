"""How the deciders run: on Kafka, or embedded in one process over one SQLite file."""
