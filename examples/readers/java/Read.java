import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
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
                if (record.topic().equals(results)) {
                    decide(JSON.readTree(record.value()), position(record));
                } else if (record.topic().equals(corrections)) {
                    var correction = JSON.readTree(record.value());
                    decide(correction, correction.get("position").asLong());
                } else if (record.value() == null && record.key().indexOf(':') < 0) {
                    // A tombstone of the clusters topic. Keys with a colon are not those of clusters.
                    System.out.println(record.key() + " expired");
                }
            }
        }
    }

    static long position(ConsumerRecord<String, String> record) {
        var header = record.headers().lastHeader("clusterd.position");
        return Long.parseLong(new String(header.value(), StandardCharsets.UTF_8));
    }

    /**
     * Results and corrections are two topics, so a correction can come before the result that it
     * corrects. The higher position counts. To decide the same twice, after a restart, is harmless.
     */
    static void decide(JsonNode message, long position) {
        var article = message.get("article_id").asText();
        if (position < known.getOrDefault(article, 0L)) {
            return;
        }
        known.put(article, position);
        var labels = new ArrayList<String>();
        message.path("labels").forEach(label -> labels.add(label.asText()));
        System.out.println(article + (labels.contains("spam") ? " hide " : " show ")
            + String.join(",", labels));
    }
}
