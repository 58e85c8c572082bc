/** The library's one class that is used here, without the stores that it has beside: they would be loaded with it. */
declare module 'rate-limiter-flexible/lib/RateLimiterMemory.js' {
  export { RateLimiterMemory as default } from 'rate-limiter-flexible'
}
