/**
 * Asks again and again until the answer passes, and returns it; for what other programs do in their own time.
 * Throws with the last answer when the time is up. The limit is a safety net, never what is asserted.
 */
export async function until<Answer>(
  what: string,
  ask: () => Promise<Answer> | Answer,
  passes: (answer: Answer) => boolean,
  limitMilliseconds = 20_000,
): Promise<Answer> {
  const deadline = performance.now() + limitMilliseconds;
  for (;;) {
    const answer = await ask();
    if (passes(answer)) return answer;
    if (performance.now() > deadline) {
      throw new Error(
        `${what}: not within ${limitMilliseconds} ms; last seen: ${JSON.stringify(answer)?.slice(0, 2000)}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
