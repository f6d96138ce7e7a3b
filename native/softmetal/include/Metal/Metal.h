/* The subset of Metal that pagedrt's runtime uses, in Apple's spelling. */
#ifndef SOFTMETAL_METAL_H
#define SOFTMETAL_METAL_H

#import <Foundation/Foundation.h>

#import <Metal/MTLBinaryArchive.h>
#import <Metal/MTLBuffer.h>
#import <Metal/MTLCommandBuffer.h>
#import <Metal/MTLCommandEncoder.h>
#import <Metal/MTLCommandQueue.h>
#import <Metal/MTLComputeCommandEncoder.h>
#import <Metal/MTLComputePipeline.h>
#import <Metal/MTLDevice.h>
#import <Metal/MTLEvent.h>
#import <Metal/MTLLibrary.h>
#import <Metal/MTLResource.h>
#import <Metal/MTLTypes.h>

#endif
