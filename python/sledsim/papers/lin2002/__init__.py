"""MASCOTS 2002: savings of energy."""
