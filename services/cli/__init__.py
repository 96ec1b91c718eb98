"""The command `punto`."""
