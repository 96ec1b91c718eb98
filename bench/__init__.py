"""Speed and memory: `make bench` prints figures with the machine they were measured on; nothing here is a test."""
