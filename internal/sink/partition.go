package sink

import kafkago "github.com/segmentio/kafka-go"

// PartitionOf returns the partition that Kafka's own clients choose for a key, by its murmur2 hash.
func PartitionOf(key []byte, partitions []int) int {
	return kafkago.Murmur2Balancer{Consistent: true}.Balance(kafkago.Message{Key: key}, partitions...)
}
