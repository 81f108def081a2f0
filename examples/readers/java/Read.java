import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * Says of each comment whether to show it: when its result comes, and when a label changes it later.
 *
 * <p>With org.apache.kafka:kafka-clients and com.fasterxml.jackson.core:jackson-databind in libs:
 *
 * <pre>java -cp 'libs/*' Read.java [BROKERS [RESULTS [CORRECTIONS [CLUSTERS]]]]</pre>
 */
public class Read {
    static final String[] DEFAULTS = {
        "127.0.0.1:9092", "comment-clusters", "comment-corrections", "comment-cluster-state"
    };
    static final ObjectMapper JSON = new ObjectMapper();

    /** Article id to position of what was decided last; keep it in your database. */
    static final Map<String, Long> known = new HashMap<>();

    public static void main(String[] args) throws Exception {
        var given = DEFAULTS.clone();
        System.arraycopy(args, 0, given, 0, args.length);
        String results = given[1], corrections = given[2], clusters = given[3];
        var consumer = new KafkaConsumer<>(Map.<String, Object>of(
            "bootstrap.servers", given[0],
            "group.id", "reader-java",
            "auto.offset.reset", "earliest",
            // Without this, results of batches that failed are read too.
            "isolation.level", "read_committed"),
            new StringDeserializer(), new StringDeserializer());
        consumer.subscribe(List.of(results, corrections, clusters));
        while (true) { // poll commits what the poll before it returned
            for (var record : consumer.poll(Duration.ofSeconds(1))) {
                if (record.topic().equals(clusters)) {
                    // A tombstone says that a cluster has expired. Others have a colon in their keys.
                    if (record.value() == null && record.key() != null && record.key().indexOf(':') < 0) {
                        System.out.println(record.key() + " expired");
                    }
                    continue;
                }
                Said said;
                try {
                    said = parse(record, record.topic().equals(corrections));
                } catch (IOException | RuntimeException e) {
                    // Somebody else wrote it: a reader must not stop there for ever.
                    System.err.println(record.topic() + "/" + record.partition() + "/" + record.offset()
                        + " skipped: " + e.toString().replace('\n', ' '));
                    continue;
                }
                decide(said);
            }
        }
    }

    record Said(String article, long position, List<String> labels) {}

    /** Returns what a result or a correction says, and fails on any other record. */
    static Said parse(ConsumerRecord<String, String> record, boolean correction) throws IOException {
        var value = JSON.readTree(record.value());
        var header = record.headers().lastHeader("clusterd.position");
        String position;
        if (correction) {
            position = value.required("position").asText();
        } else if (header != null) {
            position = new String(header.value(), StandardCharsets.UTF_8);
        } else if (value.required("status").asText().equals("unclustered")) {
            position = "0"; // an earlier clusterd wrote it
        } else {
            throw new IOException("no header clusterd.position");
        }
        var labels = new ArrayList<String>();
        value.path("labels").forEach(label -> labels.add(label.asText()));
        return new Said(value.required("article_id").asText(), Long.parseLong(position), labels);
    }

    /**
     * Results and corrections are two topics, so a correction can come before the result that it
     * corrects. The higher position counts. To decide the same twice, after a restart, is harmless.
     */
    static void decide(Said said) {
        if (said.position < known.getOrDefault(said.article, 0L)) {
            return;
        }
        known.put(said.article, said.position);
        System.out.println(said.article + (said.labels.contains("spam") ? " hide " : " show ")
            + String.join(",", said.labels));
    }
}
