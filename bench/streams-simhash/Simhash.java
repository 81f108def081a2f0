import com.hankcs.hanlp.dictionary.stopword.CoreStopWordDictionary;
import com.hankcs.hanlp.seg.Other.DoubleArrayTrieSegment;
import com.hankcs.hanlp.seg.Segment;
import com.hankcs.hanlp.seg.Viterbi.ViterbiSegment;
import java.text.Normalizer;
import java.util.HashMap;
import java.util.Locale;
import java.util.OptionalLong;

/**
 * The 64-bit SimHash of a text: of each bit, the sign of the sum over all different words of plus or minus the
 * logarithm of how often the word is there, by that bit of the word's hash. Threads may share it.
 */
final class Simhash {
    private static final long[] WEIGHTS = new long[256]; // of small counts

    static {
        for (int n = 0; n < WEIGHTS.length; n++) {
            WEIGHTS[n] = logarithm(n);
        }
    }

    private final Segment segment;

    /**
     * The segmenter is viterbi, which finds the most probable words as clusterd does, but by a model of pairs, or longest,
     * which takes the longest word at each place: far faster, and it errs more. Neither looks for names or makes tags.
     */
    Simhash(String segmenter) {
        segment = switch (segmenter) {
            case "viterbi" -> new ViterbiSegment().enableAllNamedEntityRecognize(false).enablePartOfSpeechTagging(false);
            // Without "tagging" it would divide English words and numbers into characters.
            case "longest" -> new DoubleArrayTrieSegment().enablePartOfSpeechTagging(true);
            default -> throw new IllegalArgumentException("segmenter " + segmenter);
        };
        fingerprint("Kafka", "中文"); // loads the dictionaries
    }

    /** The fingerprint of a title and a content, which may be null; nothing where they have no word that counts. */
    OptionalLong fingerprint(String title, String content) {
        var text = (title == null ? "" : title) + "\n" + (content == null ? "" : content);
        if (!Normalizer.isNormalized(text, Normalizer.Form.NFKC)) {
            text = Normalizer.normalize(text, Normalizer.Form.NFKC);
        }
        var counts = new HashMap<String, Integer>();
        for (var term : segment.seg(text.toLowerCase(Locale.ROOT))) {
            if (counts(term.word)) {
                counts.merge(term.word, 1, Integer::sum);
            }
        }
        if (counts.isEmpty()) {
            return OptionalLong.empty();
        }
        var sums = new long[Long.SIZE]; // of the words that have the bit
        long all = 0;
        for (var entry : counts.entrySet()) {
            var hash = hash(entry.getKey());
            var weight = weight(entry.getValue());
            all += weight;
            for (int bit = 0; bit < Long.SIZE; bit++) {
                sums[bit] += -(hash >>> bit & 1) & weight; // without a branch, which would be guessed wrong
            }
        }
        long bits = 0;
        for (int bit = 0; bit < Long.SIZE; bit++) {
            if (2 * sums[bit] > all) {
                bits |= 1L << bit;
            }
        }
        return OptionalLong.of(bits);
    }

    /** Whether a word is neither a stop word nor a mark. */
    private static boolean counts(String word) {
        return Character.isLetterOrDigit(word.codePointAt(0)) && !CoreStopWordDictionary.contains(word);
    }

    private static long weight(int count) {
        return count < WEIGHTS.length ? WEIGHTS[count] : logarithm(count);
    }

    /** Of a count and one, in millionths. */
    private static long logarithm(int count) {
        return Math.round(1e6 * Math.log1p(count));
    }

    /** FNV-1a over the UTF-16 units, and the finaliser of MurmurHash3, as FNV's high bits follow the last units little. */
    private static long hash(String word) {
        long hash = 0xcbf29ce484222325L;
        for (int i = 0; i < word.length(); i++) {
            hash = (hash ^ word.charAt(i)) * 0x100000001b3L;
        }
        hash = (hash ^ hash >>> 33) * 0xff51afd7ed558ccdL;
        hash = (hash ^ hash >>> 33) * 0xc4ceb9fe1a85ec53L;
        return hash ^ hash >>> 33;
    }
}
