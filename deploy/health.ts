/** The container's health check: exit code 0 when every part of this process says that it is up. */
const port = process.env['HTTP_BIND_PORT'] ?? '8080'
try {
  const answer = await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(4_000) })
  if (!answer.ok) {
    process.stderr.write(`${await answer.text()}\n`)
    process.exitCode = 1
  }
} catch (error) {
  process.stderr.write(`${String(error)}\n`)
  process.exitCode = 1
}
