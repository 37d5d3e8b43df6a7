// Strip a picture's metadata, such as place, time and camera, by redrawing it. The server cannot strip
// encrypted files, so it must happen here. Pictures that cannot be drawn are sent unchanged, without a type.

/** @type {{[type: string]: string | undefined}} */
const DRAWN = {
  "image/jpeg": "image/jpeg",
  "image/png": "image/png",
  "image/webp": "image/webp",
  "image/avif": "image/webp",
  "image/heic": "image/jpeg",
  "image/heif": "image/jpeg",
};
const MOVING = "image/gif"; // Has no location data; redrawing would lose its animation.
const QUALITY = 0.92;
const LARGEST_PX = 64 * 2 ** 20;

/** Return {blob, width, height}: the file to send. @param {File} file */
export async function undressed(file) {
  const as = DRAWN[file.type];
  if (!as && file.type !== MOVING) return { blob: file, width: null, height: null };
  let picture = null;
  try {
    picture = await createImageBitmap(file);
    const { width, height } = picture;
    if (!as) return { blob: file, width, height };
    if (width * height > LARGEST_PX) throw new RangeError("too large to be drawn");
    const canvas = new OffscreenCanvas(width, height);
    /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d")).drawImage(picture, 0, 0);
    return { blob: await canvas.convertToBlob({ type: as, quality: QUALITY }), width, height };
  } catch {
    return { blob: new Blob([file]), width: null, height: null };
  } finally {
    picture?.close();
  }
}
