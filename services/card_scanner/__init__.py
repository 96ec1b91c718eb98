"""Cards leave a shoe and are said in `table-feed`; read recording, sources, motor, scanner."""
