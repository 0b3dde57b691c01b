// Work that is done in turns.

/** Runs half a second after the first of several calls: much can change at once. */
export function soon(run) {
  let timer = null;
  return () => {
    timer ??= setTimeout(() => {
      timer = null;
      run();
    }, 500);
  };
}

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
