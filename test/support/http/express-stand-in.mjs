// The few calls of Express that the example makes, on Node's
// own server. Express itself is no dependency of this product.
import { createServer } from 'node:http';

const MAX_BODY_BYTES = 1_048_576;

export default function express() {
  const routes = [];
  const app = (request, response) => {
    response.status = (code) => {
      response.statusCode = code;
      return response;
    };
    response.send = (text) => response.end(text);
    const route = routes.find(({ path }) => path === request.url && request.method === 'POST');
    if (!route) return response.status(404).send('');
    const run = ([handler, ...rest]) => handler?.(request, response, () => run(rest));
    return run(route.handlers);
  };
  app.post = (path, ...handlers) => routes.push({ path, handlers });
  app.listen = (...args) => createServer(app).listen(...args);
  return app;
}

express.raw = () => async (request, response, next) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  request.body = Buffer.concat(chunks);
  if (request.body.length > MAX_BODY_BYTES) response.status(413).send('');
  else next();
};
