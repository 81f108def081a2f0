import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/**
 * The centres and clusters of a partition, in two stores on RocksDB with changelogs.
 *
 * <p>Two fingerprints that differ in at most 3 of 64 bits agree in one of four blocks of 16. So each centre is in a
 * bucket for each of its blocks, whole, so that no second look-up is needed, and a query goes through four. A bucket is
 * in chunks of 64 centres, so that one that many centres share costs no more to write than any other. Scanning a range
 * of one key a centre instead is slower, as Kafka Streams registers metrics for each iterator.
 */
final class Centres {
    static final int DISTANCE = 3;
    private static final int BLOCKS = DISTANCE + 1;
    private static final int BLOCK_BITS = Long.SIZE / BLOCKS;
    private static final int ENTRY = 2 * Long.BYTES; // a fingerprint, and the offset of the founder
    private static final int CHUNK = 64 * ENTRY;
    private static final String CENTRES = "centres";
    private static final String CLUSTERS = "clusters";
    private final KeyValueStore<byte[], byte[]> centres;
    private final KeyValueStore<Long, byte[]> clusters;

    record Centre(long founder, int distance) {}

    Centres(ProcessorContext<?, ?> context) {
        centres = context.getStateStore(CENTRES);
        clusters = context.getStateStore(CLUSTERS);
    }

    /** The clusters have a cache, as a large one changes many times between two commits; buckets seldom do. */
    static Set<StoreBuilder<?>> stores() {
        return Set.of(
            Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore(CENTRES), Serdes.ByteArray(), Serdes.ByteArray()),
            Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore(CLUSTERS), Serdes.Long(), Serdes.ByteArray())
                .withCachingEnabled());
    }

    /** The nearest centre within the distance, of equally near ones the oldest; null where there is none. */
    Centre nearest(long fingerprint) {
        Centre nearest = null;
        for (int block = 0; block < BLOCKS; block++) {
            byte[] chunk;
            int number = 0;
            do {
                chunk = chunk(block, fingerprint, number++);
                var entries = ByteBuffer.wrap(chunk);
                while (entries.hasRemaining()) {
                    var distance = Long.bitCount(entries.getLong() ^ fingerprint);
                    var founder = entries.getLong();
                    if (distance == 0) { // there is no second one
                        return new Centre(founder, 0);
                    }
                    if (distance <= DISTANCE && before(nearest, founder, distance)) {
                        nearest = new Centre(founder, distance);
                    }
                }
            } while (chunk.length == CHUNK);
        }
        return nearest;
    }

    private static boolean before(Centre other, long founder, int distance) {
        return other == null || distance < other.distance || distance == other.distance && founder < other.founder;
    }

    void add(long fingerprint, long founder) {
        for (int block = 0; block < BLOCKS; block++) {
            byte[] last;
            int number = 0;
            while ((last = chunk(block, fingerprint, number)).length == CHUNK) {
                number++;
            }
            centres.put(key(block, fingerprint, number),
                ByteBuffer.allocate(last.length + ENTRY).put(last).putLong(fingerprint).putLong(founder).array());
        }
    }

    /** The entries of a chunk; none where there is no such chunk. */
    private byte[] chunk(int block, long fingerprint, int number) {
        var chunk = centres.get(key(block, fingerprint, number));
        return chunk == null ? new byte[0] : chunk;
    }

    private static byte[] key(int block, long fingerprint, int number) {
        return ByteBuffer.allocate(1 + Short.BYTES + Integer.BYTES).put((byte) block)
            .putShort((short) (fingerprint >>> block * BLOCK_BITS)).putInt(number).array();
    }

    Cluster cluster(long founder) {
        return Cluster.decode(clusters.get(founder));
    }

    void put(long founder, Cluster cluster) {
        clusters.put(founder, cluster.encode());
    }

    /** A cluster, which is stored as its size, whether there is a title, the length of the id, the id, and the rest. */
    record Cluster(int size, StreamsSimhash.Representative representative) {
        Cluster joined() {
            return new Cluster(size + 1, representative);
        }

        byte[] encode() {
            var titled = representative.title() != null;
            var id = representative.id().getBytes(StandardCharsets.UTF_8);
            var shown = (titled ? representative.title() : representative.excerpt()).getBytes(StandardCharsets.UTF_8);
            return ByteBuffer.allocate(Integer.BYTES + 1 + Integer.BYTES + id.length + shown.length).putInt(size)
                .put((byte) (titled ? 1 : 0)).putInt(id.length).put(id).put(shown).array();
        }

        static Cluster decode(byte[] stored) {
            var from = ByteBuffer.wrap(stored);
            var size = from.getInt();
            var titled = from.get() == 1;
            var id = text(from, from.getInt());
            var shown = text(from, from.remaining());
            return new Cluster(size,
                new StreamsSimhash.Representative(id, titled ? shown : null, titled ? null : shown));
        }

        private static String text(ByteBuffer from, int length) {
            var bytes = new byte[length];
            from.get(bytes);
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }
}
