"""The bench as deploy/compose.yaml has it, on this machine and from Debian's packages: what faults and soaks run against."""
