package embedded

import (
	"encoding/binary"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// kfake trusts the head of a batch. If a batch asks for the time of the log, kfake writes that
// time into it and keeps the old checksum, and then the partition cannot be read any more. If a
// batch has a negative number of records, the partition ends before its records. kfake also
// creates any number of partitions. Such requests are refused here, as other brokers refuse
// them.

// logAppendTime is an attribute of a batch: its records have the time of the broker. Brokers
// set it, and producers may not.
const logAppendTime = 1 << 3

// maxPartitions is how many partitions a topic may have here. Each has a folder.
const maxPartitions = 10_000

var errRefused = errors.New("a batch was refused")

// refuse returns the answer to a request that kfake must not see, or nil. The answer is the
// same for all parts of the request, and nothing of it is done. A request with acks=0 has no
// answer: the error closes its connection, as Kafka does.
func refuse(request kmsg.Request) (kmsg.Response, error) {
	switch r := request.(type) {
	case *kmsg.ProduceRequest:
		why := checkBatches(r)
		switch {
		case why == nil:
			return nil, nil
		case r.Acks == 0:
			return nil, errRefused
		}
		return refuseRecords(r, why), nil
	case *kmsg.CreateTopicsRequest:
		response, refused := r.ResponseKind().(*kmsg.CreateTopicsResponse), false
		for _, t := range r.Topics {
			topic := kmsg.NewCreateTopicsResponseTopic()
			topic.Topic, topic.ErrorCode = t.Topic, kerr.InvalidPartitions.Code
			response.Topics = append(response.Topics, topic)
			refused = refused || t.NumPartitions > maxPartitions
		}
		if refused {
			return response, nil
		}
	case *kmsg.CreatePartitionsRequest:
		response, refused := r.ResponseKind().(*kmsg.CreatePartitionsResponse), false
		for _, t := range r.Topics {
			topic := kmsg.NewCreatePartitionsResponseTopic()
			topic.Topic, topic.ErrorCode = t.Topic, kerr.InvalidPartitions.Code
			response.Topics = append(response.Topics, topic)
			refused = refused || t.Count > maxPartitions
		}
		if refused {
			return response, nil
		}
	}
	return nil, nil
}

// checkBatches returns why the records of a request are refused, or nil.
func checkBatches(r *kmsg.ProduceRequest) *kerr.Error {
	for _, t := range r.Topics {
		for _, p := range t.Partitions {
			if why := checkBatch(p.Records); why != nil {
				return why
			}
		}
	}
	return nil
}

// checkBatch checks what kfake does not. It does refuse what is too short for a batch.
func checkBatch(b []byte) *kerr.Error {
	const attributesAt, countAt = 21, 57
	switch {
	case len(b) < batchHeaderBytes:
		return nil
	case binary.BigEndian.Uint16(b[attributesAt:])&logAppendTime != 0:
		return kerr.InvalidTimestamp
	case int32(binary.BigEndian.Uint32(b[countAt:])) < 1:
		return kerr.InvalidRecord
	}
	return nil
}

// refuseRecords returns the same error for all partitions of a request.
func refuseRecords(r *kmsg.ProduceRequest, why *kerr.Error) kmsg.Response {
	response := r.ResponseKind().(*kmsg.ProduceResponse)
	for _, t := range r.Topics {
		topic := kmsg.NewProduceResponseTopic()
		topic.Topic, topic.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			partition := kmsg.NewProduceResponseTopicPartition()
			partition.Partition, partition.ErrorCode = p.Partition, why.Code
			topic.Partitions = append(topic.Partitions, partition)
		}
		response.Topics = append(response.Topics, topic)
	}
	return response
}
