"""Puntobanco: a live-dealer baccarat backend."""
