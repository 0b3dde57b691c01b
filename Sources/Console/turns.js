// Work that is done in turns.

/** One run at a time: who asks meanwhile gets one more after it. */
export function oneAtATime(run, failed) {
  let running = false;
  let again = false;
  return async function begin() {
    if (running) return void (again = true);
    running = true;
    try {
      await run();
    } catch (error) {
      failed(error);
    } finally {
      running = false;
    }
    if (again) {
      again = false;
      await begin();
    }
  };
}
