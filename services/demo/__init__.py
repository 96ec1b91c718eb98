"""A simulated dealer and simulated customers, and the whole thing in one process: read demo, dealer, customers."""
