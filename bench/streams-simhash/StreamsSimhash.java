import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.apache.kafka.streams.state.StoreBuilder;

/**
 * What one would write on Kafka Streams instead of clusterd: each article joins the nearest centre of its partition of
 * which the 64-bit SimHash differs in at most 3 bits, of equally near ones the oldest, or founds a cluster. The result is
 * clusterd's, exactly once.
 *
 * <p>It compares within partitions, as clusterd does with {@code cluster.scope: partition}: comparing the whole topic
 * would need one task, behind a topic of one partition. It has no mark-up removed, no dead letters, no expiry and no
 * window, and its clusters are in its store alone. Settings are as in Streams.java, where reasons are given.
 */
public final class StreamsSimhash {
    /** Arguments: brokers, application id, input topic, output topic, folder of the stores, segmenter. */
    public static void main(String[] args) throws InterruptedException {
        var config = new Properties();
        config.put("bootstrap.servers", args[0]);
        config.put("application.id", args[1]);
        config.put("state.dir", args[4]);
        config.put("processing.guarantee", StreamsConfig.EXACTLY_ONCE_V2);
        config.put("commit.interval.ms", 100);
        config.put("num.stream.threads", 2);
        config.put("statestore.cache.max.bytes", 64 << 20); // 10 MiB
        config.put("consumer.max.poll.records", 5_000);
        config.put("producer.compression.type", "lz4");
        config.put("producer.batch.size", 256 << 10);

        var words = new Simhash(args[5]); // reads the dictionary before the group waits for it
        var topology = new Topology();
        var strings = Serdes.String();
        var bytes = Serdes.ByteArray();
        topology.addSource("articles", bytes.deserializer(), bytes.deserializer(), args[2]);
        topology.addProcessor("cluster", new Supplier(words), "articles");
        topology.addSink("results", args[3], strings.serializer(), bytes.serializer(), "cluster");

        var streams = new KafkaStreams(topology, config);
        var ended = new CountDownLatch(1);
        streams.setStateListener((now, before) -> {
            if (now == KafkaStreams.State.ERROR) {
                ended.countDown();
            }
        });
        streams.setUncaughtExceptionHandler(e -> {
            e.printStackTrace();
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> streams.close(Duration.ofSeconds(20))));
        streams.start();
        ended.await();
        System.exit(1);
    }

    record Article(String id, String title, String content) {}

    /** A result; cluster_id, distance, representative and fingerprint are null where there is no word to compare. */
    record Result(
        @JsonProperty("article_id") String articleId,
        @JsonProperty("cluster_id") String clusterId,
        String status,
        Integer distance,
        int size,
        Representative representative,
        String fingerprint,
        Source source) {}

    /** The founder of a cluster. One without a title has the beginning of its content. */
    record Representative(String id, @JsonInclude(JsonInclude.Include.NON_NULL) String title,
        @JsonInclude(JsonInclude.Include.NON_NULL) String excerpt) {
        static final int EXCERPT = 120; // UTF-16 units

        static Representative of(String id, Article article) {
            var content = article.content == null ? "" : article.content;
            if (article.title != null && !article.title.isEmpty()) {
                return new Representative(id, article.title, null);
            }
            var end = Math.min(content.length(), EXCERPT);
            if (end < content.length() && Character.isHighSurrogate(content.charAt(end - 1))) {
                end--;
            }
            return new Representative(id, null, content.substring(0, end));
        }
    }

    record Source(String topic, int partition, long offset) {
        static Source of(RecordMetadata from) {
            return new Source(from.topic(), from.partition(), from.offset());
        }

        String address(long founder) {
            return topic + "/" + partition + "/" + founder;
        }
    }

    /** Makes a processor for each task, and says what stores it needs. */
    record Supplier(Simhash words) implements ProcessorSupplier<byte[], byte[], String, byte[]> {
        @Override
        public Clusterer get() {
            return new Clusterer(words);
        }

        @Override
        public Set<StoreBuilder<?>> stores() {
            return Centres.stores();
        }
    }

    static final class Clusterer extends ContextualProcessor<byte[], byte[], String, byte[]> {
        private static final ObjectMapper JSON =
            new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
        private static final ObjectReader ARTICLES = JSON.readerFor(Article.class);
        private static final ObjectWriter RESULTS = JSON.writerFor(Result.class);
        private final Simhash words;
        private Centres centres;

        Clusterer(Simhash words) {
            this.words = words;
        }

        @Override
        public void init(ProcessorContext<String, byte[]> context) {
            super.init(context);
            centres = new Centres(context);
        }

        @Override
        public void process(Record<byte[], byte[]> input) {
            var source = Source.of(context().recordMetadata().orElseThrow());
            try {
                var article = ARTICLES.<Article>readValue(input.value());
                var id = article.id == null ? source.address(source.offset) : article.id;
                var result = cluster(article, id, source);
                var key = result.clusterId == null ? id : result.clusterId;
                context().forward(input.withKey(key).withValue(RESULTS.writeValueAsBytes(result)));
            } catch (IOException e) {
                throw new UncheckedIOException(source.address(source.offset), e);
            }
        }

        private Result cluster(Article article, String id, Source source) {
            var fingerprint = words.fingerprint(article.title, article.content);
            if (fingerprint.isEmpty()) {
                return new Result(id, null, "unclustered", null, 0, null, null, source);
            }
            var bits = fingerprint.getAsLong();
            var nearest = centres.nearest(bits);
            Centres.Cluster cluster;
            if (nearest == null) {
                nearest = new Centres.Centre(source.offset, 0);
                cluster = new Centres.Cluster(1, Representative.of(id, article));
                centres.add(bits, source.offset);
            } else {
                cluster = centres.cluster(nearest.founder()).joined();
            }
            centres.put(nearest.founder(), cluster);
            return new Result(id, source.address(nearest.founder()), cluster.size() == 1 ? "new" : "joined",
                nearest.distance(), cluster.size(), cluster.representative(), HexFormat.of().toHexDigits(bits), source);
        }
    }
}
