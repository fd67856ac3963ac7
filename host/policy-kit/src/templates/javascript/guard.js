// Turns whatever goes wrong in a stage into the contract's failure, with its message and place. `node --test` tests it.
//
// The component has no output for an error: without this, an uncaught error or a result of a wrong type ends the call without
// a message.

// Returns the stage, guarded. `shape` is what a result looks like: `typeof` names, a list of one shape, or an object of shapes.
// Fields that the shape does not name are optional. No result is always allowed.
export function told(stage, shape) {
  return (...inputs) => {
    let wrong;
    try {
      const result = stage(...inputs);
      wrong = result === undefined ? undefined : misfit(result, shape, 'the result');
      if (wrong === undefined) {
        return result;
      }
    } catch (error) {
      // The contract's own failure has a tag.
      throw error?.tag ? error : failure(`${error}${place(error)}`);
    }
    throw failure(`TypeError: ${stage.name} returned a wrong type: ${wrong}`);
  };
}

function failure(text) {
  return { tag: 'internal', val: text };
}

// Returns the lines of the policy that led to the error, innermost first.
function place(error) {
  const frames = String(error?.stack ?? '').split('\n').map((line) => line.trim()).filter((line) => /\.js:\d+/.test(line));
  // The generated code around the policy, and this file, are not the author's.
  const own = frames.filter((line) => !/initializer\.js|guard\.js/.test(line));
  return own.slice(0, 10).map((line) => `\n  at ${line.replace(/^at /, '')}`).join('');
}

// Returns which part of the value does not have the shape, or undefined.
function misfit(value, shape, name) {
  if (typeof shape === 'string') {
    return typeof value === shape ? undefined : `${name} is ${kind(value)}, not ${shape}`;
  }
  if (Array.isArray(shape)) {
    const wrong = (item, at) => misfit(item, shape[0], `${name}[${at}]`);
    return Array.isArray(value) ? value.map(wrong).find((text) => text !== undefined) : `${name} is ${kind(value)}, not a list`;
  }
  if (kind(value) !== 'object') {
    return `${name} is ${kind(value)}, not an object`;
  }
  return Object.entries(shape)
    .map(([field, inner]) => misfit(value[field], inner, `${name}.${field}`))
    .find((text) => text !== undefined);
}

function kind(value) {
  if (value === null) {
    return 'null';
  }
  return Array.isArray(value) ? 'a list' : typeof value;
}
