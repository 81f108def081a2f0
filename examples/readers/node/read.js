// Says of each comment whether to show it: when its result comes, and when a label changes it later.
//
//     npm install
//     node read.js [BROKERS [RESULTS [CORRECTIONS [CLUSTERS]]]]

const { Kafka, logLevel } = require('kafkajs')

const defaults = ['127.0.0.1:9092', 'comment-clusters', 'comment-corrections', 'comment-cluster-state']
const args = process.argv.slice(2)
const [brokers, results, corrections, clusters] = args.concat(defaults.slice(args.length))

const known = new Map() // article id -> position of what was decided last; keep it in your database

// Results and corrections are two topics, so a correction can come before the result that it
// corrects. The higher position counts. To decide the same twice, after a restart, is harmless.
function decide(article, position, labels = []) {
  if (position < (known.get(article) ?? 0)) return
  known.set(article, position)
  console.log(article, labels.includes('spam') ? 'hide' : 'show', labels.join(','))
}

function take(topic, message) {
  if (topic === results) {
    const result = JSON.parse(message.value)
    decide(result.article_id, Number(message.headers['clusterd.position']), result.labels)
  } else if (topic === corrections) {
    const correction = JSON.parse(message.value)
    decide(correction.article_id, correction.position, correction.labels)
  } else if (message.value === null && !message.key.includes(':')) {
    // A tombstone of the clusters topic. Keys with a colon are not those of clusters.
    console.log(message.key.toString(), 'expired')
  }
}

const kafka = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.WARN })
// Without readUncommitted: false, results of batches that failed are read too; it is the default.
const consumer = kafka.consumer({ groupId: 'reader-node', readUncommitted: false })

async function main() {
  await consumer.connect()
  await consumer.subscribe({ topics: [results, corrections, clusters], fromBeginning: true })
  // What was read is committed after this returns, and not before.
  await consumer.run({ eachMessage: async ({ topic, message }) => take(topic, message) })
}

main()
