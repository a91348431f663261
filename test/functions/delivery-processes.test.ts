import { describeDelivery } from '../support/receiver/delivery-suite.ts';

describeDelivery('processes');
