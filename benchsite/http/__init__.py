"""HTTP as it comes off the wire, beneath every application: Twisted's connection and Daphne's request, with bounds."""
