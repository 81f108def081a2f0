// Asks clusterd about a comment before the comment is shown. It needs nothing but Node 18.
//
//     const { labels } = require('./check.js')
//     const hide = (await labels(`comment-${number}`, text, 'blog.example')).includes('spam')
//
// or, from a shell, "node check.js ID TEXT", which prints show or hide.

// Sends a comment to clusterd, and returns the labels of its cluster. If clusterd does not answer
// within some milliseconds, or refuses, there are no labels: then the comment is shown, and the
// error output says why.
async function labels(id, text, source, milliseconds = 3000) {
  const url = process.env.CLUSTERD_URL || 'http://127.0.0.1:8081'
  const headers = { 'Content-Type': 'application/json' }
  const token = process.env.CLUSTERD_TOKEN // with the right write
  if (token) headers.Authorization = `Bearer ${token}`
  try {
    const response = await fetch(`${url}/v1/articles`, {
      method: 'POST', headers, body: JSON.stringify({ id, content: text, source }),
      redirect: 'error', signal: AbortSignal.timeout(milliseconds),
    })
    const answer = await response.json()
    if (!response.ok) throw new Error(answer.detail)
    return answer.labels ?? []
  } catch (error) {
    console.error('clusterd:', error.cause?.message ?? error.message)
    return []
  }
}

module.exports = { labels }

if (require.main === module) {
  const [id, text] = process.argv.slice(2)
  labels(id, text, 'shell').then((all) => console.log(all.includes('spam') ? 'hide' : 'show'))
}
