"""Steps that ask a model, as a source like any other: bounded, and with facts for their only input."""
