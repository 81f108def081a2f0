import java.time.Duration;
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
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/**
 * What one would write on Kafka Streams instead of clusterd, without the clustering: for each article a put into a
 * store on RocksDB, by the article's id, and a record of the size of clusterd's result, exactly once.
 *
 * <p>Where its settings differ from Kafka's defaults, it is to make it faster: a thread for each of two cores, lz4, and
 * larger polls and batches. Still larger ones, also of fetches and buffers, a cache before the store, and a longer or a
 * shorter linger made no difference that could be told from noise. The store has no cache, whose keys would each be in it once. The interval of
 * commits is the default of exactly_once_v2. It parses nothing, which clusterd does: the id is the record's key.
 */
public final class Streams {
    static final String STORE = "seen";

    /** Arguments: brokers, application id, input topic, output topic, folder of the store. */
    public static void main(String[] args) throws InterruptedException {
        var config = new Properties();
        config.put("bootstrap.servers", args[0]);
        config.put("application.id", args[1]);
        config.put("state.dir", args[4]);
        config.put("processing.guarantee", StreamsConfig.EXACTLY_ONCE_V2);
        config.put("commit.interval.ms", 100);
        config.put("num.stream.threads", 2);
        config.put("consumer.max.poll.records", 5_000); // 1,000
        config.put("producer.compression.type", "lz4"); // none
        config.put("producer.batch.size", 256 << 10); // 16 KiB; they linger for 100 ms, but not in a commit

        var topology = new Topology();
        var strings = Serdes.String();
        var bytes = Serdes.ByteArray();
        topology.addSource("articles", strings.deserializer(), bytes.deserializer(), args[2]);
        topology.addProcessor("seen", new Supplier(), "articles");
        topology.addSink("results", args[3], strings.serializer(), strings.serializer(), "seen");

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

    /** Makes a processor for each task, and says what store it needs. */
    static final class Supplier implements ProcessorSupplier<String, byte[], String, String> {
        @Override
        public Seen get() {
            return new Seen();
        }

        @Override
        public Set<StoreBuilder<?>> stores() {
            return Set.of(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore(STORE), Serdes.String(), Serdes.String()));
        }
    }

    static final class Seen extends ContextualProcessor<String, byte[], String, String> {
        private KeyValueStore<String, String> store;

        @Override
        public void init(ProcessorContext<String, String> context) {
            super.init(context);
            store = context.getStateStore(STORE);
        }

        @Override
        public void process(Record<String, byte[]> article) {
            var from = context().recordMetadata().orElseThrow();
            var id = article.key();
            var cluster = from.topic() + "/" + from.partition() + "/" + from.offset();
            store.put(id, cluster);
            var result = "{\"article_id\":\"" + id + "\",\"cluster_id\":\"" + cluster
                + "\",\"status\":\"new\",\"distance\":0,\"size\":1,\"representative\":{\"id\":\"" + id
                + "\",\"title\":\"\"},\"fingerprint\":\"0123456789abcdef\",\"source\":{\"topic\":\"" + from.topic()
                + "\",\"partition\":" + from.partition() + ",\"offset\":" + from.offset()
                + "},\"pipeline\":\"method=simhash,hash=sdbm,weight=log,dict=983d9d68,stop=c9db4fa2,norm=1,html=auto\"}";
            context().forward(article.withKey(cluster).withValue(result));
        }
    }
}
