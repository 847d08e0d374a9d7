"""The log, the workers and the projector on Kafka. Only this package imports aiokafka and faust."""
