"""The pages of sweeps: which there are in the folder of the operator, and the report of each."""
