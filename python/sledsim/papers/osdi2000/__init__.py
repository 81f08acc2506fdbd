"""CMU-CS-00-136, the report version of the paper of OSDI 2000."""
