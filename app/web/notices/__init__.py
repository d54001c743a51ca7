"""What stands over every page of the portal, whatever page it is."""
