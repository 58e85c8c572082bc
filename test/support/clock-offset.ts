/** Loaded before Millrace (`--import`): its wall clock is ahead by `TEST_CLOCK_OFFSET_MS`. Timers and durations stay as they are. */
const offsetMs = Number(process.env['TEST_CLOCK_OFFSET_MS'] ?? 0)
const now = Date.now.bind(Date)
Date.now = () => now() + offsetMs
