"""The service: runs that survive their processes, over HTTP. Needs the extra `service`."""
