"""puntobanco: the backend of a live Punto Banco table. Start reading at `services.baccarat`."""
