"""How long tests wait. Bounds are wide: what hangs would take far longer, and a busy machine is not a fault."""

HANGS = 60.0  # seconds that something that hangs would take
SOON = 25.0  # what did not wait for it has ended within these seconds, also on a busy machine
