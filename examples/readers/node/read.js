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
function decide({ article, position, labels }) {
  if (position < (known.get(article) ?? 0)) return
  known.set(article, position)
  console.log(article, labels.includes('spam') ? 'hide' : 'show', labels.join(','))
}

// What a result or a correction says. It fails on any other record.
function parse(topic, message) {
  const said = JSON.parse(message.value)
  let position = topic === corrections ? said.position : message.headers['clusterd.position']
  // An earlier clusterd wrote results of unclustered articles without it.
  if (position === undefined && said.status === 'unclustered') position = 0
  position = parseInt(position)
  if (said.article_id === undefined || Number.isNaN(position)) throw new Error('no article or no position')
  return { article: said.article_id, position, labels: said.labels ?? [] }
}

function take(topic, partition, message) {
  if (topic === clusters) {
    // A tombstone says that a cluster has expired. Keys with a colon are not those of clusters.
    const expired = message.value === null && message.key !== null && !message.key.includes(':')
    if (expired) console.log(message.key.toString(), 'expired')
    return
  }
  let said
  try {
    said = parse(topic, message)
  } catch (error) { // somebody else wrote it: a reader must not stop there for ever
    console.error(`${topic}/${partition}/${message.offset} skipped: ${error.message}`)
    return
  }
  decide(said)
}

const kafka = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.WARN })
// Without readUncommitted: false, results of batches that failed are read too; it is the default.
const consumer = kafka.consumer({ groupId: 'reader-node', readUncommitted: false })

async function main() {
  await consumer.connect()
  await consumer.subscribe({ topics: [results, corrections, clusters], fromBeginning: true })
  // What was read is committed after this returns, and not before.
  await consumer.run({
    eachMessage: async ({ topic, partition, message }) => take(topic, partition, message),
  })
}

main()
