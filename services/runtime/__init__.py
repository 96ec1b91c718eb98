"""How it runs: the game's deciders on Kafka, or embedded in one process."""
