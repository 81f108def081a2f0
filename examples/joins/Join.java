import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.processor.api.ContextualFixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;

/**
 * Joins each article with its result, exactly once.
 *
 * <pre>java -cp 'libs/*' Join.java BROKERS ARTICLES RESULTS JOINED</pre>
 */
public class Join {
    /** An article may be this much older than its result, by the timestamps of their records. */
    static final Duration LONGEST = Duration.ofDays(1);

    static Topology topology(String articles, String results, String joined) {
        var builder = new StreamsBuilder();
        KStream<String, String> left = builder.<String, String>stream(articles).processValues(OfArticle::new);
        KStream<String, String> right = builder.<String, String>stream(results).processValues(OfResult::new);
        left.join(right, Join::both, JoinWindows.ofTimeDifferenceWithNoGrace(LONGEST),
                StreamJoined.with(Serdes.String(), Serdes.String(), Serdes.String()))
            .filter((key, both) -> both != null)
            .to(joined);
        return builder.build();
    }

    /** Puts the address of an article before it, as its result has it: articles/2/17. */
    static class OfArticle extends ContextualFixedKeyProcessor<String, String, String> {
        @Override
        public void process(FixedKeyRecord<String, String> article) {
            var at = context().recordMetadata().orElseThrow();
            var address = at.topic() + "/" + at.partition() + "/" + at.offset();
            context().forward(article.withValue(address + " " + article.value()));
        }
    }

    /** Puts the address of its article before a result. */
    static class OfResult extends ContextualFixedKeyProcessor<String, String, String> {
        @Override
        public void process(FixedKeyRecord<String, String> result) {
            var source = result.headers().lastHeader("clusterd.source").value();
            var address = new String(source, StandardCharsets.UTF_8);
            context().forward(result.withValue(address + " " + result.value()));
        }
    }

    /** Returns an article with its result; null where the result is of another article with the same key. */
    static String both(String article, String result) {
        String[] a = article.split(" ", 2), r = result.split(" ", 2);
        return a[0].equals(r[0]) ? "{\"article\":" + a[1] + ",\"result\":" + r[1] + "}" : null;
    }

    public static void main(String[] args) {
        var config = new Properties();
        config.put("bootstrap.servers", args[0]);
        config.put("application.id", args[3]);
        config.put("state.dir", args[3] + "-state"); // a cache of topics that Kafka Streams makes
        config.put("processing.guarantee", StreamsConfig.EXACTLY_ONCE_V2); // reads what is committed alone
        config.put("default.key.serde", Serdes.StringSerde.class);
        config.put("default.value.serde", Serdes.StringSerde.class);
        var streams = new KafkaStreams(topology(args[1], args[2], args[3]), config);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> streams.close(Duration.ofSeconds(20))));
        streams.start();
    }
}
