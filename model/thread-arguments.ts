/**
 * How Node starts a thread of ours, and a test its process: with what this process preloads, and without a line for each experimental part of Node. Not with all
 * arguments of the process: one that only the main thread may have would stop the thread's start.
 */
export function threadArguments(ofProcess: readonly string[] = process.execArgv): string[] {
  const preloads = ofProcess.flatMap((argument, index) => {
    if (argument === '--import') return ['--import', ofProcess[index + 1] ?? '']
    return argument.startsWith('--import=') ? [argument] : []
  })
  return ['--disable-warning=ExperimentalWarning', ...preloads]
}
