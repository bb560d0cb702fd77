"""From configuration to jobs: which computations a study needs. Nothing is computed here."""
