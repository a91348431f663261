/** The product's version: package.json's, which a test compares. Also OpenAPI's `info.version`. */
export const PRODUCT_VERSION = '1.0.0';
