package article

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// ParseCluster reads what [Cluster.JSON] wrote. All but the sketch must be there; whether it is
// possible, and whose id it has, is for the caller to say.
func ParseCluster(value []byte) (Cluster, error) {
	// One that is left out would else be one of no value, such as the fingerprint 0.
	var c struct {
		Cluster
		Seq            *uint64         `json:"seq"`
		Fingerprint    *Fingerprint    `json:"fingerprint"`
		Size           *int            `json:"size"`
		FirstSeen      *time.Time      `json:"first_seen"`
		LastSeen       *time.Time      `json:"last_seen"`
		Representative *Representative `json:"representative"`
		Pipeline       *string         `json:"pipeline"`
	}
	if err := json.Unmarshal(value, &c); err != nil {
		return Cluster{}, fmt.Errorf("not a cluster: %w", err)
	}
	if c.Seq == nil || c.Fingerprint == nil || c.Size == nil || c.FirstSeen == nil ||
		c.LastSeen == nil || c.Representative == nil || c.Pipeline == nil {
		return Cluster{}, errors.New("not a cluster: a field is missing, or null")
	}
	c.Cluster.Seq, c.Cluster.Fingerprint, c.Cluster.Size = *c.Seq, *c.Fingerprint, *c.Size
	c.Cluster.FirstSeen, c.Cluster.LastSeen = *c.FirstSeen, *c.LastSeen
	c.Cluster.Representative, c.Cluster.Pipeline = *c.Representative, *c.Pipeline
	return c.Cluster, nil
}

// ParseResult reads what [Result.JSON] wrote.
func ParseResult(value []byte) (Result, error) {
	var r Result
	if err := json.Unmarshal(value, &r); err != nil {
		return Result{}, fmt.Errorf("not a result: %w", err)
	}
	return r, nil
}
